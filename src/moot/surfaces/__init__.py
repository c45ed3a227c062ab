"""How people and programs reach Moot. Surfaces parse, execute and render; they hold no rules."""
