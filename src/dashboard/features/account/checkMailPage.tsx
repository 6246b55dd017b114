import { Button } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { askAgain } from './addresses.ts';
import { authApi } from './authApi.ts';
import { Problem } from './fields.tsx';
import classes from './frame.module.css';
import { Frame } from './frame.tsx';
import { findPendingRequest } from './pendingRequest.ts';
import { useAuthAction } from './useAuthAction.ts';

const TEXTS = {
  verify: {
    title: 'Check your mail',
    lead:
      'Open the link in our mail “Confirm your e-mail address”, preferably in this browser: then one click is ' +
      'enough. The mail may take a minute, or arrive in the spam folder.',
    again: (email: string) => authApi.sendVerification(email),
  },
  reset: {
    title: 'Check your mail',
    lead:
      'If this address has an account, a link to choose a new password is on its way. The mail may take a minute, ' +
      'or arrive in the spam folder.',
    again: (email: string) => authApi.requestReset(email),
  },
};

export function CheckMailPage() {
  const mail = useLocation({ select: ({ state }) => state.mail });
  const email = mail?.email;
  const { title, lead, again } = TEXTS[mail?.why ?? 'verify'];
  const { run, busy, done, problem } = useAuthAction(again, () => undefined);
  const asked = findPendingRequest();
  const words = 'Back to sign-in';
  const back = asked === undefined ? <Link to="/sign-in">{words}</Link> : <a href={askAgain(asked)}>{words}</a>;
  return (
    <Frame title={title} lead={lead} below={back}>
      {email && (
        <>
          <p className={classes.facts}>
            Sent to <strong>{email}</strong>
          </p>
          <Problem>{problem}</Problem>
          <Button variant="default" loading={busy} onClick={() => run(email)}>
            Send it again
          </Button>
          <p role="status">
            {done &&
              !busy &&
              'The mail was sent again, unless several were sent within the last hour. Earlier links still work.'}
          </p>
        </>
      )}
    </Frame>
  );
}
