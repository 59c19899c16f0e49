// A link within the portal, followed without reloading the page.
import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from 'react';
import type { Place } from '../state/place';
import { addressOf, go } from '../state/router';

export interface PlaceLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  to: Place;
  query?: Record<string, string>;
  children: ReactNode;
}

/** Modified clicks (new tab or window) are left to the browser. */
function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

export function PlaceLink({ to, query = {}, children, ...rest }: PlaceLinkProps) {
  return (
    <a
      {...rest}
      href={addressOf(to, query)}
      onClick={(event) => {
        rest.onClick?.(event);
        if (!isPlain(event) || event.defaultPrevented) return;
        event.preventDefault();
        go(to, query);
      }}
    >
      {children}
    </a>
  );
}
