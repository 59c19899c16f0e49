// Signing in with the account's key.
export default function Login() {
  return <main className="page">Sign in</main>;
}
