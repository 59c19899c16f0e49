// A loading placeholder of grey bars, announced to screen readers.
export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">Loading…</span>
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all the same.
        <span key={at} className="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  );
}
