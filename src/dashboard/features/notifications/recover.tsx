/** Sends again what an endpoint has missed. */
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import type { EndpointRecovery } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useOnce } from '../../ui/useOnce.ts';
import { useEndpointsChanged } from './queries.ts';

const HOURS = [
  { value: '1', label: 'An hour' },
  { value: '24', label: 'A day' },
  { value: '168', label: '7 days' },
] as const;

const HOUR_MS = 3_600_000;

const describe = ({ count }: EndpointRecovery): string => {
  if (count === 0) return 'Nothing was missed in that time.';
  return count === 1 ? 'One event is sent again.' : `${count} events are sent again.`;
};

function RecoverDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { endpoints } = useApi().calls;
  const changed = useEndpointsChanged();
  const now = useNow(false);
  const [hours, setHours] = useState<(typeof HOURS)[number]['value']>('24');
  const { run, busy, problem } = useOnce(
    (since: string) => endpoints.recover(id, { since }),
    (recovery) => {
      onClose();
      notifications.show({ message: describe(recovery), autoClose: 8_000 });
      return changed();
    },
  );
  return (
    <Dialog title="Send again what was missed?" onClose={onClose} busy={busy}>
      <form
        className={forms.form}
        onSubmit={(event) => {
          event.preventDefault();
          run(new Date(now - Number(hours) * HOUR_MS).toISOString());
        }}
      >
        <p className={forms.help}>
          All that was not accepted, and what happened while the endpoint was off. What was accepted is not sent again.
        </p>
        <Choices legend="Of the last" name="hours" choices={HOURS} value={hours} onChange={setHours} />
        <FormEnd problem={problem} busy={busy} onCancel={onClose}>
          Send again
        </FormEnd>
      </form>
    </Dialog>
  );
}

export function RecoverButton({ id }: { id: string }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setAsking(true)}>
        Send what was missed…
      </Button>
      {isAsking && <RecoverDialog id={id} onClose={() => setAsking(false)} />}
    </>
  );
}
