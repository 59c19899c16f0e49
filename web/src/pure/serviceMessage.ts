// Extracts the message from an error of the NoSQL API, which is wrapped in JSON: `Message:
// {"Errors":["…"]}` or `{"errors":[{"message":"…"}]}`.

function sentences(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const { Errors, errors } = body as { Errors?: unknown; errors?: unknown };
  const found = Array.isArray(Errors) ? Errors : Array.isArray(errors) ? errors : [];
  return found.flatMap((error: unknown): string[] => {
    if (typeof error === 'string') return [error];
    const { message } = (error ?? {}) as { message?: unknown };
    return typeof message === 'string' ? [message] : [];
  });
}

/** Returns the message without wrapping and help link; other messages unchanged. */
export function plainMessage(message: string): string {
  return unwrapped(message).replace(/\s*Learn more: https:\/\/aka\.ms\/\S+$/, '');
}

function unwrapped(message: string): string {
  const [from, to] = [message.indexOf('{'), message.lastIndexOf('}')];
  if (!/^(Message:\s*)?\{/.test(message)) return message;
  try {
    const found = sentences(JSON.parse(message.slice(from, to + 1)));
    return found.length === 0 ? message : found.join(' ');
  } catch {
    return message;
  }
}
