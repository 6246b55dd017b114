import { Button, PasswordInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { problems } from '../../client/index.ts';
import { trialApi, useSession } from '../context.tsx';
import { problemText } from '../problem.ts';
import { Logo } from './logo.tsx';
import classes from './shell.module.css';

const explain = (error: unknown): string =>
  error instanceof problems.Unauthenticated
    ? 'This key is not accepted. It may be mistyped, expired or revoked.'
    : problemText(error);

/** Header values are bytes (RFC 9110 section 5.5), and `fetch` refuses any other text with an error of its own. */
const canBeSent = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);

/** Asks for an API key and keeps it once the server has accepted it. */
export function SignIn({ corner }: { corner: ReactNode }) {
  const session = useSession();
  const titleId = useId();
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · loopstream';
  }, []);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key === '') return setError('Enter your API key.');
    if (!canBeSent(key)) return setError('This is not an API key: it has spaces or letters that no key has.');
    setBusy(true);
    setError(undefined);
    try {
      await trialApi(key).me();
      session.signIn(key);
    } catch (failure) {
      setError(explain(failure));
      setBusy(false);
    }
  }

  return (
    <main className={classes.signIn}>
      <div className={classes.corner}>{corner}</div>
      <form className={classes.card} aria-labelledby={titleId} onSubmit={submit} noValidate>
        <Logo size={44} />
        <div>
          <h1 id={titleId}>Sign in to loopstream</h1>
          <p className={classes.lead}>See what is on air, and put it there.</p>
        </div>
        {session.notice && !error && (
          <p className={classes.signInNotice} role="status">
            {session.notice}
          </p>
        )}
        <PasswordInput
          name="key"
          label="API key"
          description="It begins with lsk_ and stays in this tab."
          placeholder="lsk_…"
          size="md"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          autoFocus
          error={error}
          errorProps={{ role: 'alert' }}
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
        />
        <Button type="submit" size="md" loading={busy} fullWidth>
          Sign in
        </Button>
      </form>
    </main>
  );
}
