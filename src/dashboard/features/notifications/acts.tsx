/** The acts on an endpoint, in the list and on its page. */
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconSend, IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Endpoint, EndpointTest } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { quote } from '../../lib/isolate.ts';
import { type Act, copyAct } from '../../ui/actMenu.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import forms from '../../ui/form.module.css';
import page from '../../ui/page.module.css';
import { useOnce } from '../../ui/useOnce.ts';
import { Answer } from './answer.tsx';
import { useEndpointsChanged } from './queries.ts';

/** Turns an endpoint on or off. */
export function usePower({ id, name }: Endpoint) {
  const { endpoints } = useApi().calls;
  const changed = useEndpointsChanged();
  const { run, busy } = useOnce<boolean, unknown>(async (enabled) => {
    const title = `${quote(name)} was not turned ${enabled ? 'on' : 'off'}`;
    await endpoints
      .update(id, { enabled })
      .catch((error: unknown) => notifications.show({ color: 'red', title, message: problemText(error) }));
  }, changed);
  return { turn: run, busy };
}

export function useTest({ id }: Endpoint) {
  const { endpoints } = useApi().calls;
  return useMutation({ mutationFn: () => endpoints.test(id) });
}

interface TestProps {
  name: string;
  test: ReturnType<typeof useTest>;
}

export const TestButton = ({ name, test }: TestProps) => (
  <Button
    variant="default"
    leftSection={<IconSend size={16} aria-hidden />}
    aria-label={`Test ${name}`}
    loading={test.isPending}
    onClick={() => test.mutate()}
  >
    Test
  </Button>
);

/** The result of the last test; nothing before the first. */
export function TestOutcome({ test }: Pick<TestProps, 'test'>) {
  const { isPending, error, data } = test as { isPending: boolean; error: unknown; data?: EndpointTest };
  if (isPending)
    return (
      <p className={page.dim} role="status">
        Sending a test message…
      </p>
    );
  if (error)
    return (
      <p className={forms.problem} role="alert">
        {problemText(error)}
      </p>
    );
  return data ? <Answer answer={data.answer} isResult /> : null;
}

/** The acts of a menu, and the question that one of them asks. */
export function useActs(endpoint: Endpoint, onChange: () => void, onDeleted: () => void) {
  const { id, name, state } = endpoint;
  const { endpoints } = useApi().calls;
  const { turn } = usePower(endpoint);
  const [isDeleting, setDeleting] = useState(false);
  const power: Act[] =
    state === 'active'
      ? [{ label: 'Turn off', icon: IconPlayerPause, run: () => turn(false) }]
      : [{ label: 'Turn on', icon: IconPlayerPlay, run: () => turn(true) }];
  const acts: Act[] = [
    { label: 'Change…', icon: IconPencil, run: onChange },
    ...(state === 'unverified' ? [] : power),
    copyAct('Copy id', id),
    { label: 'Delete endpoint…', icon: IconTrash, isDanger: true, run: () => setDeleting(true) },
  ];
  const question = isDeleting && (
    <DeleteDialog
      noun="endpoint"
      name={name}
      remove={() => endpoints.delete(id)}
      onClose={() => setDeleting(false)}
      onDone={() => {
        setDeleting(false);
        onDeleted();
      }}
    >
      Nothing is sent there any more, and the list of what was sent is deleted.
    </DeleteDialog>
  );
  return { acts, question };
}
