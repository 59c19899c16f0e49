// Whether something has gone on for a while: what is over sooner needs no word.
import { useEffect, useState } from 'react';

export function useLasting(goesOn: boolean, ms: number): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!goesOn) return;
    const timer = setTimeout(() => setLasts(true), ms);
    return () => {
      clearTimeout(timer);
      setLasts(false);
    };
  }, [goesOn, ms]);
  return goesOn && lasts;
}
