// The front page.

export default function Home() {
  return <div className="page">EbbDB</div>;
}
