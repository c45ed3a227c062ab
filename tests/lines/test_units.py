"""The function or class around a line, in the languages that the scan knows."""

from __future__ import annotations

import pytest

from moot.lines.units import Unit, find_shared_units, find_unit

# A line that ends with `<- NAME` is in the unit NAME; the mark is part of the text.
SOURCES = {
    "a.py": """
import os  <-
class Option(Parameter):
    name = 1  <- Option

    @property
    def first(self):  <- Option.first
        if self:
            return (
                1  <- Option.first
            )
        return 2  <- Option.first

    async def __init__(
        self,
        required=None,  <- Option.__init__
    ):
        # a comment
        self.x = 1  <- Option.__init__
        def inner():
            pass  <- Option.__init__.inner
        return 1  <- Option.__init__

def free():
\ttabs  <- free

x = 1  <-
""",
    "a.ts": """
export class Box<T> extends Base {
  private size = 1;  <- Box
  constructor(private readonly a: string) {
    super();  <- Box.constructor
  }
  async get<K>(key: K): Promise<T> {
    if (key) {
      return 1;  <- Box.get
    } else {
      return 2;  <- Box.get
    }
  }
}
export default async function run(a, b) {
  for (const x of a) {
    x();  <- run
  }
}
const add = (a, b) => {
  return a + b;  <- add
};
let config = {
  a: 1,  <-
};
""",
    "a.go": """
type Server struct {
	name string  <- Server
}
func (s *Server) Listen(port int) error {
	if port == 0 {
		return nil  <- Server.Listen
	}
}
func main() {
	run()  <- main
}
""",
    "a.rs": """
pub struct Map<K> {
    size: usize,  <- Map
}
impl<K: Hash> Iterator for Map<K> {
    fn next(&mut self) -> Option<K> {
        match x {
            _ => None,  <- Map.next
        }
    }
}
pub(crate) async fn load() {
    go();  <- load
}
""",
    "a.c": """
#include <stdio.h>
static int
count(void) {
    return 1;  <- count
}
int main(int argc, char **argv)
{
    if (argc) {
        return 2;  <- main
    }
}
""",
    "A.java": """
public final class Account implements Comparable<Account> {
    private int total;  <- Account

    @Override
    public int compareTo(Account other) throws Error {
        while (true) {
            return 1;  <- Account.compareTo
        }
    }
}
""",
    "a.rb": """
module Shop
  class Cart < Base
    def self.total(items)
      items.each do |item|
        item  <- Shop.Cart.total
      end
    end
    attr :x  <- Shop.Cart
  end
end
""",
    "a.unknown": """
some text  <-
""",
}


@pytest.mark.parametrize("path", SOURCES)
def test_the_unit_of_each_marked_line(path: str) -> None:
    lines = SOURCES[path].encode().split(b"\n")
    marked = 0
    for number, line in enumerate(lines):
        if b"<-" in line:
            unit = find_unit(lines, number, path)
            expected = line.partition(b"<-")[2].strip().decode()
            assert (unit.name if unit else None) == expected, line
            marked += 1
    assert marked


def test_blank_lines_and_places_outside_have_no_unit() -> None:
    assert find_unit([b"", b"x"], 0, "a.py") is None
    assert find_unit([b"x"], 5, "a.py") is None
    assert find_unit([], 0, "a.py") is None


def test_statements_outside_of_functions_are_units_without_a_name() -> None:
    lines = [b"TABLE = {", b"    1: 2,", b"    3: 4,", b"}", b"", b"OTHER = 1"]
    assert find_unit(lines, 2, "a.py") == Unit("", 0)
    assert find_unit(lines, 5, "a.py") == Unit("", 5)


def test_shared_units_name_the_lines_of_the_other() -> None:
    lines = [b"def f():", b"    a", b"    b", b"def g():", b"    c"]
    assert find_shared_units(lines, "a.py", [1], [2, 4]) == {Unit("f", 0): (2,)}
    assert find_shared_units(lines, "a.py", [1], [4]) == {}
