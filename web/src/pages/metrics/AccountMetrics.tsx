// Figures of the whole account.

export default function AccountMetrics() {
  return <div className="page">Metrics</div>;
}
