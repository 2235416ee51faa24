"""The interface hash in languages that mark what is seen: it moves with the surface only (F13, F14)."""

import pytest

from tests.unit.languages.test_interface import digest

SAMPLES = {
    "java": """\
package a.b;
import java.util.List;
/** A shape. */
public class Shape<T> extends Base implements Runnable {
    private int hidden = 1;
    protected final int sides = 4;
    public Shape(String name) { this.hidden = 2; }
    @Override public void run() { helper(1); }
    double area(double scale) { return scale * hidden; }
    private int helper(int a) { return a; }
}
""",
    "rust": """\
use std::fmt::Debug;
/// A shape.
#[derive(Debug)]
pub struct Shape<T: Debug> { pub name: T, size: u32 }
pub trait Area { fn area(&self, scale: f64) -> f64; }
impl<T: Debug> Area for Shape<T> {
    fn area(&self, scale: f64) -> f64 { scale * 2.0 }
}
impl<T: Debug> Shape<T> {
    pub fn new(name: T) -> Self { Shape { name, size: 1 } }
    fn helper(&self, a: u8) -> u8 { a }
}
pub const LIMIT: u32 = 10;
fn private(a: u8) -> u8 { a }
""",
    "csharp": """\
using System;
namespace Shapes {
    /// <summary>A shape.</summary>
    public class Shape : Base, IRunnable {
        private int hidden = 1;
        public int Sides { get; set; }
        public Shape(string name) { hidden = 2; }
        protected double Area(double scale = 1.0) { return scale * hidden; }
        int Helper(int a) { return a; }
    }
}
""",
    "kotlin": """\
package shapes
import java.util.Date
/** A shape. */
open class Shape(val name: String, private val hidden: Int = 1) : Base(), Runnable {
    fun area(scale: Double = 1.0): Double { return scale * hidden }
    private fun helper(a: Int): Int { return a }
}
fun make(name: String): Shape { return Shape(name) }
private fun secret(a: Int) = a
""",
    "php": """\
<?php
namespace Shapes;
/** A shape. */
class Shape extends Base implements Runnable {
    private $hidden = 1;
    public int $sides = 4;
    public function area(float $scale = 1.0): float { return $scale * $this->hidden; }
    private function helper(int $a): int { return $a; }
}
function make(string $name): Shape { return new Shape($name); }
""",
    "ruby": """\
module Shapes
  # A shape.
  class Shape < Base
    LIMIT = 10
    attr_reader :name
    def area(scale = 1.0, unit: "m")
      scale * 2
    end

    private

    def helper(a)
      a
    end
  end
end
""",
    "scala": """\
package shapes
/** A shape. */
class Shape(val name: String) extends Base with Runnable {
  def area(scale: Double = 1.0): Double = { scale * 2 }
  private def helper(a: Int): Int = a
}
object Shape { def make(name: String): Shape = new Shape(name) }
""",
    "swift": """\
import Foundation
/// A shape.
public class Shape: Base, Runnable {
    private var hidden = 1
    public func area(scale: Double = 1.0) -> Double { return scale * 2 }
    private func helper(a: Int) -> Int { return a }
}
""",
    "c": """\
#include <stdio.h>
/* A shape. */
struct shape { int sides; char *name; };
enum kind { ROUND, FLAT };
double area(struct shape *shape, double scale) { return scale * 2; }
static int helper(int a) { return a; }
""",
    "cpp": """\
#include <string>
/* A shape. */
template <typename T> class Shape : public Base {
 public:
  explicit Shape(std::string name);
  virtual double area(double scale = 1.0) const { return scale * 2; }
 private:
  int helper(int a) { return a; }
};
static int secret(int a) { return a; }
""",
    "lua": """\
local M = {}
-- Area.
function M.area(shape, scale)
  return scale * 2
end
local function helper(a)
  return a
end
return M
""",
    "bash": """\
# Area.
area() {
  echo "scale"
}
""",
}

SAME = [
    ("java", "scale * hidden", "scale * hidden * 2"),
    ("java", "A shape.", "Another shape."),
    ("java", "helper(int a)", "helper(int a, int b)"),
    ("java", "hidden = 1", "hidden = 3"),
    ("java", "area(double scale) {", "area(\n        double scale\n    )\n    {"),
    ("java", "import java.util.List;", "import java.util.Map;"),
    ("rust", "scale * 2.0", "scale * 3.0"),
    ("rust", "/// A shape.", "/// Another shape."),
    ("rust", "private(a: u8)", "private(a: u16)"),
    ("rust", "helper(&self, a: u8)", "helper(&self, a: u16)"),
    ("rust", "size: u32", "size: u64"),
    ("rust", "u32 = 10", "u32 = 11"),
    ("csharp", "return scale * hidden", "return hidden * scale"),
    ("csharp", "A shape.", "Another shape."),
    ("csharp", "Helper(int a)", "Helper(long a)"),
    ("csharp", "hidden = 1", "hidden = 3"),
    ("kotlin", "return scale * hidden", "return hidden * scale"),
    ("kotlin", "helper(a: Int)", "helper(a: Long)"),
    ("kotlin", "secret(a: Int)", "secret(a: Long)"),
    ("kotlin", "A shape.", "Another shape."),
    ("php", "return $scale * $this->hidden", "return 2"),
    ("php", "helper(int $a)", "helper(string $a)"),
    ("php", "$hidden = 1", "$hidden = 2"),
    ("php", "A shape.", "Another shape."),
    ("ruby", "scale * 2", "scale * 3"),
    ("ruby", "helper(a)", "helper(a, b)"),
    ("ruby", "# A shape.", "# Another shape."),
    ("scala", "{ scale * 2 }", "{ scale * 3 }"),
    ("scala", "helper(a: Int)", "helper(a: Long)"),
    ("scala", "A shape.", "Another shape."),
    ("swift", "return scale * 2", "return scale * 3"),
    ("swift", "helper(a: Int)", "helper(a: Int64)"),
    ("swift", "hidden = 1", "hidden = 2"),
    ("c", "return scale * 2", "return scale * 3"),
    ("c", "helper(int a)", "helper(long a)"),
    ("c", "/* A shape. */", "/* Another. */"),
    ("cpp", "return scale * 2", "return scale * 3"),
    ("cpp", "helper(int a)", "helper(long a)"),
    ("cpp", "secret(int a)", "secret(long a)"),
    ("lua", "return scale * 2", "return scale * 3"),
    ("lua", "helper(a)", "helper(a, b)"),
    ("bash", 'echo "scale"', 'echo "other"'),
]

DIFFERENT = [
    ("java", "area(double scale)", "area(float scale)"),
    ("java", "double area", "float area"),
    ("java", "extends Base", "extends Other"),
    ("java", "Shape(String name)", "Shape(Object name)"),
    ("java", "private int helper", "int helper"),
    ("java", "@Override public", "@Deprecated public"),
    ("java", "protected final int sides", "protected final long sides"),
    ("rust", "area(&self, scale: f64)", "area(&self, scale: f32)"),
    ("rust", "pub name: T", "pub title: T"),
    ("rust", "fn private", "pub fn private"),
    ("rust", "T: Debug> {", "T: Clone> {"),
    ("rust", "pub const LIMIT: u32", "pub const LIMIT: u64"),
    ("rust", "#[derive(Debug)]", "#[derive(Debug, Clone)]"),
    ("csharp", "scale = 1.0", "scale = 2.0"),
    ("csharp", "int Sides", "long Sides"),
    ("csharp", "Shape : Base", "Shape : Other"),
    ("csharp", "        int Helper", "        public int Helper"),
    ("csharp", "Shape(string name)", "Shape(object name)"),
    ("kotlin", "scale: Double = 1.0", "scale: Double = 2.0"),
    ("kotlin", "): Double", "): Float"),
    ("kotlin", "Base(), Runnable", "Other(), Runnable"),
    ("kotlin", "private fun secret", "fun secret"),
    ("kotlin", "val name: String,", "val name: CharSequence,"),
    ("php", "float $scale = 1.0", "float $scale = 2.0"),
    ("php", "): float", "): int"),
    ("php", "extends Base", "extends Other"),
    ("php", "private function helper", "public function helper"),
    ("php", "public int $sides", "public float $sides"),
    ("ruby", "scale = 1.0", "scale = 2.0"),
    ("ruby", 'unit: "m"', 'unit: "km"'),
    ("ruby", "Shape < Base", "Shape < Other"),
    ("ruby", "    private\n", "\n"),
    ("scala", "scale: Double = 1.0", "scale: Double = 2.0"),
    ("scala", "extends Base", "extends Other"),
    ("scala", "make(name: String)", "make(name: Any)"),
    ("swift", "scale: Double = 1.0", "scale: Double = 2.0"),
    ("swift", "-> Double", "-> Float"),
    ("swift", "Shape: Base", "Shape: Other"),
    ("c", "double scale)", "float scale)"),
    ("c", "int sides", "long sides"),
    ("c", "ROUND, FLAT", "ROUND, FLAT, LONG"),
    ("c", "static int helper", "int helper"),
    ("cpp", "scale = 1.0", "scale = 2.0"),
    ("cpp", "public Base", "public Other"),
    ("cpp", "Shape(std::string name)", "Shape(std::string_view name)"),
    ("lua", "area(shape, scale)", "area(shape)"),
    ("lua", "local function helper", "function helper"),
    ("bash", "area() {", "surface() {"),
]


@pytest.mark.parametrize(("language", "old", "new"), SAME)
def test_hash_stays(language: str, old: str, new: str) -> None:
    text = SAMPLES[language]
    assert old in text
    assert digest(language, text) == digest(language, text.replace(old, new, 1))


@pytest.mark.parametrize(("language", "old", "new"), DIFFERENT)
def test_hash_moves(language: str, old: str, new: str) -> None:
    text = SAMPLES[language]
    assert old in text
    assert digest(language, text) != digest(language, text.replace(old, new, 1))
