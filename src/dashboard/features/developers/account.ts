/** Says as whom a page for developers sends requests: the browser adds the session of the dashboard, and no script sees a key. */
import { authApi } from '../account/authApi.ts';

/** Undefined where nobody has signed in. */
async function findAccount(): Promise<string | undefined> {
  const person = await authApi.session();
  if (person) return person.email;
  return (await authApi.keepsKey()) ? 'the owner of your API key' : undefined;
}

/** Fills the element `account`, which may know another way (`data-otherwise`). It stays empty where the server does not answer. */
export async function showAccount(): Promise<void> {
  const place = document.getElementById('account');
  if (!place) return;
  try {
    const name = await findAccount();
    if (name !== undefined) {
      place.textContent = `Requests from this page are those of ${name}. They change real streams.`;
      return;
    }
    const link = document.createElement('a');
    link.href = `/sign-in?${new URLSearchParams({ next: location.pathname })}`;
    link.textContent = 'Sign in';
    place.replaceChildren(link, ` to send requests from this page${place.dataset.otherwise ?? ''}.`);
  } catch {
    place.textContent = '';
  }
}
