/** Sends the query of the page about GraphQL as the person who has signed in, and shows the answer. */
import './guide.ts';
import { showAccount } from './account.ts';

async function send(query: string): Promise<string> {
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  const text = await answer.text();
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const [form, query, answer] = ['try', 'query', 'answer'].map((id) => document.getElementById(id));
form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (!answer) return;
  answer.hidden = false;
  answer.textContent = 'Sending…';
  answer.textContent = await send((query as HTMLTextAreaElement).value).catch(() => 'The server did not respond.');
});
void showAccount();
