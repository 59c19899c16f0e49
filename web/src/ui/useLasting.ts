// Whether a condition has lasted a while; short ones are not worth a message.
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
