/**
 * Sends a request until it is answered, always under the same key: however often it is sent, it happens once.
 *
 * The key stands for what the user means to do. Make it when the form opens, with `crypto.randomUUID()`, and keep it
 * until there is an answer.
 */
export async function postOnce(url, body, key) {
  for (let attempt = 1; attempt <= 8; attempt++) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body),
    }).catch(() => null);
    // Wait for what is in progress, and ask again after a failure: it may have happened or not, and the same key tells.
    const isAsked = !response || response.status >= 500 || [409, 429].includes(response.status);
    const retryAfter = Number(response?.headers.get('Retry-After'));
    if (!isAsked || (response?.status === 409 && !retryAfter)) return response;
    await new Promise((resolve) => setTimeout(resolve, (retryAfter || 2 ** attempt) * 1000));
  }
  throw new Error('There is no answer yet. Keep the key, and try again later.');
}
