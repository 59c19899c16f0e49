// The mark of EbbDB: a wave that ebbs. Its drawing is the icon of the page, which is loaded once.
export function Logo() {
  return <img className="top-logo" src="/icon.svg" alt="" width={24} height={24} />;
}
