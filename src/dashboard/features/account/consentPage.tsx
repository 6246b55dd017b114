/** A program asks to act for the person. Its author chose its name, so the name is shown as text and marked. */
import { Button, Skeleton, UnstyledButton } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconShieldCheck, IconShieldQuestion } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSession, useWho } from '../../api/context.tsx';
import type { Person } from '../../api/session.ts';
import { Name } from '../../ui/name.tsx';
import { describeUrl, describingHost, mayFollow, readOAuthQuery } from './addresses.ts';
import { type AskingClient, authApi } from './authApi.ts';
import { explainAuthError } from './authErrors.ts';
import { Problem } from './fields.tsx';
import classes from './frame.module.css';
import { Frame } from './frame.tsx';
import { keepPendingRequest } from './pendingRequest.ts';
import { listMeanings } from './scopes.ts';
import { SignInPage } from './signInPage.tsx';
import { useAuthAction } from './useAuthAction.ts';

interface ConsentRequest {
  /** As it was signed. */
  query: string;
  clientId: string;
  redirectUri: string;
  scopes: string[];
}

function wishIn(search: string): ConsentRequest | undefined {
  const query = readOAuthQuery(search);
  if (query === undefined) return undefined;
  const fields = new URLSearchParams(query);
  return {
    query,
    clientId: fields.get('client_id') ?? '',
    redirectUri: fields.get('redirect_uri') ?? '',
    scopes: (fields.get('scope') ?? '').split(' ').filter(Boolean),
  };
}

/** A mistake of an app is for its author; a person can only go back. Nothing of the address is repeated. */
const Unanswerable = () => (
  <Frame
    alert
    title="This app’s request is not valid"
    lead="The request has expired, was changed on its way, or comes from an unknown app. Nothing was allowed. Go back to the app and start again."
  />
);

const Allowances = ({ scopes }: { scopes: readonly string[] }) => (
  <ul className={classes.allowed}>
    {listMeanings(scopes).map(({ text, grave }) => (
      <li key={text} data-grave={grave || undefined}>
        {grave ? <IconAlertTriangle size={17} aria-label="Careful:" /> : <IconCheck size={17} aria-hidden />}
        {text}
      </li>
    ))}
  </ul>
);

const Client = ({ name, isVerified }: { name: string; isVerified: boolean }) => (
  <div className={classes.client}>
    <p className={classes.clientName}>
      <Name>{name}</Name>
    </p>
    {isVerified ? (
      <span className={classes.verified}>
        <IconShieldCheck size={15} aria-hidden /> Verified
      </span>
    ) : (
      <span className={classes.unverified}>
        <IconShieldQuestion size={15} aria-hidden /> Unverified
      </span>
    )}
  </div>
);

/** Says whose word the name is: anybody can choose any. */
function Origin({ clientId }: { clientId: string }) {
  const host = describingHost(clientId);
  if (host === undefined) return <p>The app chose its name itself.</p>;
  return (
    <p>
      The name comes from <strong>{host}</strong>
    </p>
  );
}

const getLead = (client: AskingClient | undefined): string | undefined =>
  client?.isVerified
    ? 'The operators of this loopstream have verified the app’s developer. Allow access if you started this request ' +
      'there yourself.'
    : 'Nobody has verified the app’s developer. Allow access only if you started this request there yourself, a ' +
      'moment ago.';

function Asking({ wish, person }: { wish: ConsentRequest; person: Person }) {
  const session = useSession();
  // From here on the program receives the outcome in any case.
  useEffect(() => keepPendingRequest(undefined), []);
  const [gone, setGone] = useState(false);
  const client = useQuery({ queryKey: ['client', wish.clientId], queryFn: () => authApi.client(wish.clientId) });
  const { run, busy, problem } = useAuthAction(
    (accept: boolean) => authApi.consent(accept, wish.query),
    (next) => {
      if (next === undefined || !mayFollow(next)) throw new Error('The server returned no address to continue to.');
      setGone(true);
      location.assign(next);
    },
  );
  const other = useAuthAction(
    () => authApi.signOut(),
    () => session.signOut(),
  );
  if (client.error) return <Frame alert title="The app could not be shown" lead={explainAuthError(client.error)} />;
  if (gone) return <Frame alert title="Back to the app" lead="If nothing happens, you can close this page." />;
  return (
    <Frame title="An app asks for access" lead={getLead(client.data)}>
      {client.data ? (
        <Client name={client.data.name ?? 'An app without a name'} isVerified={client.data.isVerified} />
      ) : (
        <Skeleton height={52} />
      )}
      <div>
        <p>It will be able to:</p>
        <Allowances scopes={wish.scopes} />
      </div>
      <div className={classes.facts}>
        <Origin clientId={wish.clientId} />
        <p>
          You go back to <strong>{describeUrl(wish.redirectUri)}</strong>
        </p>
        <p>
          Signed in as <strong>{person.email}</strong>.{' '}
          <UnstyledButton className={classes.link ?? ''} onClick={() => other.run(undefined)}>
            Not you?
          </UnstyledButton>
        </p>
        <p>You can disconnect it at any time.</p>
      </div>
      <Problem>{problem}</Problem>
      <div className={classes.choices}>
        <Button variant="default" size="md" disabled={busy} onClick={() => run(false)}>
          Deny
        </Button>
        <Button size="md" loading={busy} disabled={!client.data} onClick={() => run(true)}>
          Allow
        </Button>
      </div>
    </Frame>
  );
}

export function ConsentPage() {
  const { person } = useWho();
  const wish = wishIn(location.search);
  if (!wish) return <Unanswerable />;
  if (person === undefined) return null;
  return person === null ? <SignInPage /> : <Asking wish={wish} person={person} />;
}
