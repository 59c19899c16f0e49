// What a first program is made of: whom it connects to, and what it needs. No text of its own.
import type { Reach } from '../../../pure/address';

/** Where this server is. A door that is off is null. */
export interface Facts {
  mongo: Reach | null;
  cosmos: Reach | null;
  key: string;
}

export interface Snippet {
  /** The driver or SDK. */
  title: string;
  /** How it is got. */
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
