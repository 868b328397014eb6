import React, {x} from 'react';
import fs = require("fs");
@Component({a: () => 1})
export class Foo<T> extends Bar {
  @Input() name: string;
  @Host('x')
  // c
  private async run(a: number): Promise<void> { const y = () => 2; }
  handler = (e) => { };
  abstract foo(): void;
}
export const createStoreImpl: X = (createState) => {
  const setState: Y = (partial) => { const s = `a${partial + "q"}b` }
  const api = { setState, getState() {}, sub: function() {} }
}
export type A = { a: string
 b: string }
export interface StoreApi<T> { getX(a: string): void }
declare module 'foo' { export function bar(a): void; }
namespace NS { export enum E { A } }
export const useX = useCallback((a) => { return 1 }, []);
const ids = items.map(x => x.id)
export default function cfg() { return a }
Foo.prototype.baz = function() {}
module.exports = { alpha() {}, beta: () => 1 }
const Y = React.memo(function Inner() {})
export const create = (<T>(createState: X) => createState ? impl(createState) : impl) as Create
export const useStore = create<State>()(devtools(persist((set) => ({ inc: () => set(1) }), { name: 'x' })))
export type Union =
  | 'a'
  | 'b'
declare function ambient(a: string): void
export abstract class Shape { abstract area(): number; static make = async () => {} }
function over(a: string): void
function over(a: number): void
function over(a: any) {}
const table = { row: { cell: () => 1 } } satisfies Table
export default async () => {}
