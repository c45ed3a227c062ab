# noqa: A005 - the package is called after what it tests
