import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../context.tsx';
import { tokenIn } from './addresses.ts';
import { askedBefore } from './asked.ts';
import { Problem } from './fields.tsx';
import { Frame } from './frame.tsx';
import { GoOn } from './goOn.tsx';
import { people } from './people.ts';
import { useOnce } from './useOnce.ts';

/**
 * Where the link of the mail leads. It waits for a press: programs that look into mails open every link, and would confirm
 * addresses in the name of people who never signed up.
 */
export function VerifyPage() {
  const session = useSession();
  const navigate = useNavigate();
  const [token] = useState(() => tokenIn(location.hash));
  const [asked] = useState(askedBefore);
  const { run, busy, done, problem, error } = useOnce(
    async (value: string) => {
      await people.verify(value);
      return people.session();
    },
    (person) => {
      if (person) session.knowPerson(person);
      else session.signOut('Your address is confirmed. Sign in with your password.');
      if (asked !== undefined) return undefined;
      // The address holds the token, and is not to be gone back to.
      return navigate({ to: person ? '/' : '/sign-in', replace: true });
    },
  );
  if (done && asked !== undefined) return <GoOn title="Your address is confirmed" asked={asked} />;
  const back = <Link to="/sign-in">Back to signing in</Link>;
  if (token === undefined)
    return (
      <Frame
        title="This link is not whole"
        lead="Copy the whole address from the mail, or sign in: we will send you the link again."
        below={back}
      />
    );
  return (
    <Frame title="Confirm your address" lead="One press, and you can sign in." below={back}>
      <Problem>{problem && `${problem} Sign in, and it is sent.`}</Problem>
      {!error && (
        <Button size="md" loading={busy} onClick={() => run(token)} autoFocus fullWidth>
          Confirm my address
        </Button>
      )}
    </Frame>
  );
}
