// A skeleton of the frame before the session is known, identical to the one in index.html.
import { Logo } from '../ui/Logo';
import { Skeleton } from '../ui/Skeleton';

export function Opening() {
  return (
    <div className="frame">
      <header className="top">
        <span className="top-name">
          <Logo />
          <span className="top-word">EbbDB</span>
        </span>
      </header>
      <div className="frame-middle">
        <div className="frame-tree" aria-hidden="true">
          <Skeleton lines={5} />
        </div>
        <main>
          <div className="frame-panel">
            <Skeleton lines={8} />
          </div>
        </main>
      </div>
    </div>
  );
}
