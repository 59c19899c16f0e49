// Types of a first program: server addresses and requirements. Contains no texts.
import type { Reach } from '../../../pure/address';

/** Addresses of this server; null: the API is off. */
export interface Facts {
  mongo: Reach | null;
  cosmos: Reach | null;
  key: string;
}

export interface Snippet {
  title: string;
  install: string;
  code: string;
}

export interface Platform {
  key: string;
  label: string;
  mongo: ((address: Reach) => Snippet) | null;
  nosql: ((address: Reach, key: string) => Snippet) | null;
}

export function snippetsOf(platform: Platform, { mongo, cosmos, key }: Facts): Snippet[] {
  const made: Snippet[] = [];
  if (mongo !== null && platform.mongo !== null) made.push(platform.mongo(mongo));
  if (cosmos !== null && platform.nosql !== null) made.push(platform.nosql(cosmos, key));
  return made;
}
