// Converts the JSON of one document to its stored form: BSON values by the rules of Extended JSON,
// or the text of an item. Finds no documents in a file.
import { Double, Int32, Long } from 'bson';
import { type JsonNode, printCompact } from '../json/tree';
import { Wrong } from '../reader';
import { BadValue, fromExtended } from '../shell/values';
import type { Document, ItemText } from './found';

export type Finish<T> = (node: JsonNode) => T;

/** Converts a number as the shell does: the smallest type that holds an integer, else a double. */
function numberOf(text: string): Int32 | Long | Double {
  if (!/^-?\d+$/.test(text) || text === '-0') return new Double(Number(text));
  const whole = BigInt(text);
  if (whole === BigInt.asIntN(32, whole)) return new Int32(Number(whole));
  if (whole === BigInt.asIntN(64, whole)) return Long.fromBigInt(whole);
  return new Double(Number(text));
}

function plain(text: string): unknown {
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return text.startsWith('"') ? (JSON.parse(text) as string) : numberOf(text);
}

function checkNames(node: JsonNode): void {
  if (node.kind === 'array') node.elements.forEach(checkNames);
  if (node.kind !== 'object') return;
  const seen = new Set<string>();
  for (const { key, keyText, at, value } of node.entries) {
    if (seen.has(key)) throw new Wrong(`the name ${keyText} occurs twice`, at);
    seen.add(key);
    checkNames(value);
  }
}

function valueOfNode(node: JsonNode): unknown {
  if (node.kind === 'plain') return plain(node.text);
  if (node.kind === 'array') return node.elements.map(valueOfNode);
  const object = Object.fromEntries(
    node.entries.map(({ key, value }) => [key, valueOfNode(value)]),
  );
  try {
    return fromExtended(object);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new Wrong(error.message, node.at);
  }
}

/** Converts Extended JSON, canonical or relaxed, to BSON values. */
export function extendedValue(node: JsonNode): unknown {
  checkNames(node);
  return valueOfNode(node);
}

function checkObject(node: JsonNode, noun: string): void {
  if (node.kind !== 'object') throw new Wrong(`${noun} must be an object in { }`, node.at);
}

export const finishDocument: Finish<Document> = (node) => {
  checkObject(node, 'a document');
  const value = extendedValue(node);
  const isDocument = Object.getPrototypeOf(value) === Object.prototype;
  if (!isDocument) throw new Wrong('this is a value of Extended JSON, not a document', node.at);
  return value as Document;
};

/** Converts JSON to the text of an item. */
export const finishItem: Finish<ItemText> = (node) => {
  checkObject(node, 'an item');
  checkNames(node);
  return printCompact(node);
};
