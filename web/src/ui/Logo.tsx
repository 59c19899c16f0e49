// The logo: an ebbing wave. It is the page's icon, so the browser loads it once.
export function Logo() {
  return <img className="top-logo" src="/icon.svg" alt="" width={24} height={24} />;
}
