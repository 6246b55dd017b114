/** The secret by which a program tells our requests from those of others: shown on demand, and replaced. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Endpoint } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatTime } from '../../lib/format.ts';
import { Confirm } from '../../ui/confirm.tsx';
import forms from '../../ui/form.module.css';
import { Panel } from '../../ui/panel.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { useOnce } from '../../ui/useOnce.ts';
import classes from './notifications.module.css';
import { useEndpointsChanged } from './queries.ts';

const keyOf = (id: string) => ['endpointSecret', id] as const;

function Secret({ id }: { id: string }) {
  const { endpoints } = useApi().calls;
  const { data, error } = useQuery({
    queryKey: keyOf(id),
    queryFn: ({ signal }) => endpoints.secret(id, { signal }),
    // It is kept no longer than it is shown.
    gcTime: 0,
  });
  if (error && !data)
    return (
      <p className={forms.problem} role="alert">
        {problemText(error)}
      </p>
    );
  return <Snippet text={data?.secret ?? 'Loading…'} label="Secret of this endpoint" />;
}

export function SecretPanel({ endpoint: { id, previousSecretUntil } }: { endpoint: Endpoint }) {
  const { endpoints } = useApi().calls;
  const queries = useQueryClient();
  const changed = useEndpointsChanged();
  const [isShown, setShown] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const rotation = useOnce(
    () => endpoints.rotate(id),
    () => {
      setShown(true);
      return Promise.all([changed(), queries.invalidateQueries({ queryKey: keyOf(id) })]);
    },
  );
  return (
    <Panel title="Secret">
      <p className={forms.help}>
        Each request is signed with it. A program that checks the signature knows that a request comes from here.
      </p>
      {isShown && <Secret id={id} />}
      {previousSecretUntil && (
        <p className={forms.help} role="status">
          Requests are signed with the previous secret as well, until {formatTime(previousSecretUntil)}.
        </p>
      )}
      {rotation.problem && (
        <p className={forms.problem} role="alert">
          {rotation.problem}
        </p>
      )}
      <div className={classes.buttons}>
        <Button variant="default" onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide the secret' : 'Show the secret'}
        </Button>
        <Button variant="default" loading={rotation.busy} onClick={() => setAsking(true)}>
          Replace the secret…
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title="Replace the secret?"
          yes="Replace the secret"
          no="Keep it"
          onYes={() => rotation.run(undefined)}
          onClose={() => setAsking(false)}
        >
          For a day, each request is signed with both secrets, the new one and the previous one. Give your program the
          new one within that day.
        </Confirm>
      )}
    </Panel>
  );
}
