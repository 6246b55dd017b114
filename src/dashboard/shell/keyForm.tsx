import { Button, PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { problems } from '../../client/index.ts';
import { useFields } from '../account/fields.tsx';
import frame from '../account/frame.module.css';
import { trialApi, useSession } from '../context.tsx';
import { problemText } from '../problem.ts';

const explain = (error: unknown): string =>
  error instanceof problems.Unauthenticated
    ? 'This key is not accepted. It may be mistyped, expired or revoked.'
    : problemText(error);

/** Header values are bytes (RFC 9110 section 5.5), and `fetch` refuses any other text with an error of its own. */
const canBeSent = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);

function wrongKey(key: string): string | undefined {
  if (key === '') return 'Enter your API key.';
  return canBeSent(key) ? undefined : 'This is not an API key: it has spaces or letters that no key has.';
}

/** Asks for an API key and keeps it once the server has accepted it. */
export function KeyForm({ onDone }: { onDone: () => void }) {
  const session = useSession();
  const [refusal, setRefusal] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { wrong, props } = useFields(
    ({ key = '' }) => {
      setRefusal(undefined);
      return { key: wrongKey(key) };
    },
    async ({ key = '' }) => {
      setBusy(true);
      try {
        await trialApi(key).me();
        session.signIn(key);
        onDone();
      } catch (failure) {
        setRefusal(explain(failure));
        setBusy(false);
      }
    },
  );
  return (
    <form className={frame.form} {...props}>
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
        error={wrong.key ?? refusal}
        aria-invalid={(wrong.key ?? refusal) === undefined ? undefined : true}
        errorProps={{ role: 'alert' }}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
      />
      <Button type="submit" size="md" loading={busy} fullWidth>
        Sign in
      </Button>
    </form>
  );
}
