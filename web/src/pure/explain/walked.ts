// Decides whether a query reads many more documents than it returns, so that an index is worth its
// cost. Independent of the API.
import { count } from '../figures/amount';

const FEW = 100;
const TIMES = 5;

export function isWasteful(examined: number, returned: number): boolean {
  return examined >= FEW && examined >= returned * TIMES;
}

export function walked(examined: number, returned: number): string {
  const documents = (n: number) => `${count(n)} document${n === 1 ? '' : 's'}`;
  return `This query scanned ${documents(examined)} to return ${count(returned)}`;
}
