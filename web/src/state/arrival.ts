// Code that is loaded apart from the first page. What is needed while the server is silent is waited
// for; whoever needs it only hears of a failure that is not the server's silence.
import { refreshServer, server } from './server';

const TRIES = 3;
const AGAIN_MS = 1000;
/** When the first page is surely there. */
const EARLY_MS = 3000;

const apart: (() => Promise<unknown>)[] = [];

/** Registers code as one that is loaded early: when the first page is there and nothing is asked of
 * it. Some browsers remember for as long as a page is open that its code could not be loaded, so it
 * is better had before the server goes away. Answers `load` itself. */
export function early<T>(load: () => Promise<T>): () => Promise<T> {
  apart.push(load);
  return load;
}

async function loadAll(): Promise<void> {
  for (const load of apart) {
    try {
      await load();
    } catch {
      // Whoever needs it asks again.
    }
  }
}

/** Loads what was registered, in a while. Answers what calls that off. */
export function loadEarly(): () => void {
  const timer = setTimeout(() => void loadAll(), EARLY_MS);
  return () => clearTimeout(timer);
}

/** When the server is known to answer. */
function answering(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (server.get().silentSince !== null) return false;
      resolve();
      return true;
    };
    if (look()) return;
    const stop = server.subscribe(() => {
      if (look()) stop();
    });
  });
}

/** What `load` gives; asked for again when the server is back. */
export async function arrival<T>(load: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await load();
    } catch (failure) {
      if (tries === TRIES) throw failure;
      await refreshServer();
      if (server.get().silentSince === null)
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      else await answering();
    }
  }
}
