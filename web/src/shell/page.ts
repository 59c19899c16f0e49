// Pages are loaded when they are first shown. One that was asked for while the server was silent is
// asked for again when it is back.
import { type ComponentType, lazy } from 'react';
import { server } from '../state/server';

/** Long enough for a silence to be noticed. */
const NOTICED_MS = 2000;

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

/** A page that is loaded once; what fails while the server answers stays failed. */
export function page<P>(load: () => Promise<{ default: ComponentType<P> }>) {
  return lazy(async () => {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, NOTICED_MS));
      await answering();
      return load();
    }
  });
}
