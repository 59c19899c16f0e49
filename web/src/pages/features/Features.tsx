// Switches of the account.

export default function Features() {
  return <div className="page">Features</div>;
}
