// Loads code chunks that are separate from the first page. While the server does not answer, a load
// waits for it; only other failures reach the caller.
import { refreshServer, server } from './server';

const TRIES = 3;
const AGAIN_MS = 1000;
/** Delay after which the first page has surely loaded. */
const EARLY_MS = 3000;

const apart: (() => Promise<unknown>)[] = [];

/**
 * Registers a chunk to be loaded soon after the first page. Some browsers remember a failed module
 * load until the page is closed, so chunks are loaded before the server can become unreachable.
 * Returns `load` itself.
 */
export function early<T>(load: () => Promise<T>): () => Promise<T> {
  apart.push(load);
  return load;
}

async function loadAll(): Promise<void> {
  for (const load of apart) {
    try {
      await load();
    } catch {
      // The component that needs it loads it again.
    }
  }
}

/** Schedules loading of the registered chunks. Returns a function that cancels it. */
export function loadEarly(): () => void {
  const timer = setTimeout(() => void loadAll(), EARLY_MS);
  return () => clearTimeout(timer);
}

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

/** Returns the result of `load`; retries when the server answers again. */
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
