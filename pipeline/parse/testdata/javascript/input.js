#!/usr/bin/env node
const fs = require('fs');
import def, { a as b } from "./mod.js";
import './side-effect';
export { x } from 'other';

function* gen() { yield 1; }
async function load(url, opts = {}) {
  return fetch(`${url}?q=${opts.q || "none"}`);
}
export default class extends Base {
  static #count = 0;
  static async create() {}
  get value() { return 1; }
  handler = () => {};
  [Symbol.iterator]() {}
  'quoted name'() {}
}
const curry = (f) => (x) => f(x);
var legacy = function named() {};
exports.helper = function (a) { return a; };
module.exports = { alpha() {}, beta: async () => {} };
Widget.prototype.draw = function () {};
const store = create()((set) => ({ inc: () => set(1) }));
const ids = items.map(x => x.id);
const timer = setTimeout(() => {}, 10);
(function iife() { function inside() {} })();
const re = /a"b/g; // not a string: "
class Broken { ok() {} bad( { }
