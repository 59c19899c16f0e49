// A one-line message about the whole page.
import type { ReactNode } from 'react';

export interface BannerProps {
  look?: 'plain' | 'warn' | 'bad' | 'good';
  children: ReactNode;
}

export function Banner({ look = 'plain', children }: BannerProps) {
  return (
    <div className={`banner ${look}`} role={look === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}
