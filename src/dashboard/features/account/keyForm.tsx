import { Button, PasswordInput } from '@mantine/core';
import { ProblemError } from '../../../service/client/index.ts';
import { trialApi, useSession } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { useFields } from './fields.tsx';
import frame from './frame.module.css';
import { useAuthAction } from './useAuthAction.ts';

const explain = (error: unknown): string =>
  error instanceof ProblemError && error.status === 401
    ? 'This key is not accepted. It may be mistyped, expired or revoked.'
    : problemText(error);

/** More than any key has; servers take no header that is very much longer. */
const MAX_KEY = 500;

/** Header values are bytes (RFC 9110 section 5.5), and `fetch` refuses any other text with an error of its own. */
const canBeSent = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);

function wrongKey(key: string): string | undefined {
  if (key === '') return 'Enter your API key.';
  if (key.length > MAX_KEY) return 'This text is too long to be an API key.';
  return canBeSent(key) ? undefined : 'This is not an API key: it has spaces or letters that no key contains.';
}

/** Asks for an API key and keeps it once the server has accepted it. */
export function KeyForm({ onDone }: { onDone: () => void }) {
  const session = useSession();
  const { run, busy, error } = useAuthAction(
    async (key: string) => {
      await trialApi(key).me();
      return key;
    },
    (key) => {
      session.signIn(key);
      onDone();
    },
  );
  const { wrong, props } = useFields(
    ({ key = '' }) => ({ key: wrongKey(key) }),
    ({ key = '' }) => run(key),
  );
  const message = wrong.key ?? (error ? explain(error) : undefined);
  return (
    <form className={frame.form} {...props}>
      <PasswordInput
        name="key"
        label="API key"
        description="The key begins with lsk_ and stays in this tab."
        placeholder="lsk_…"
        size="md"
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        autoFocus
        error={message}
        aria-invalid={message === undefined ? undefined : true}
        errorProps={{ role: 'alert' }}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
      />
      <Button type="submit" size="md" loading={busy} fullWidth>
        Sign in
      </Button>
    </form>
  );
}
