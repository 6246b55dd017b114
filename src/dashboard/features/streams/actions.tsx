/** The acts on a stream besides starting and stopping it. */
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPencil, IconPlayerSkipForward } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { quote } from '../../lib/isolate.ts';
import { ActMenu } from '../../ui/actMenu.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import { DuplicateForm } from './duplicateForm.tsx';
import { isRunning } from './phase.ts';
import { useStreamActs } from './rowActs.tsx';

/** Taking it off air comes first, which takes as long as the streamer needs to say goodbye. */
export const DELETE_MS = 40_000;

function SkipButton({ stream }: { stream: Stream }) {
  const { streams } = useApi().calls;
  const queries = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => streams.skip(stream.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['stats', stream.id] }),
    onError: (error) =>
      notifications.show({
        id: `skip-${stream.id}`,
        color: 'red',
        withBorder: true,
        title: `${quote(stream.name)} did not skip to the next item`,
        message: problemText(error),
      }),
  });
  return (
    <Button
      variant="default"
      leftSection={<IconPlayerSkipForward size={16} aria-hidden />}
      aria-label={`Skip to the next item of ${stream.name}`}
      loading={isPending}
      onClick={() => mutate()}
      data-testid="stream-skip"
    >
      Skip
    </Button>
  );
}

function DeleteStream({ stream, onClose }: { stream: Stream; onClose: () => void }) {
  const { streams } = useApi().calls;
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <DeleteDialog
      noun="stream"
      name={stream.name}
      remove={() => streams.delete(stream.id, { timeoutMs: DELETE_MS })}
      onClose={onClose}
      onDone={async () => {
        await navigate({ to: '/streams' });
        queries.removeQueries({ queryKey: ['stream', stream.id] });
        await queries.invalidateQueries({ queryKey: ['streams'] });
      }}
    >
      {isRunning(stream.status) && 'The stream goes off air on every destination first. '}
      Its media, playlists and destinations stay. You cannot undo this.
    </DeleteDialog>
  );
}

interface MoreActionsProps {
  stream: Stream;
  phase: string;
  onEdit: () => void;
}

export function MoreActions({ stream, phase, onEdit }: MoreActionsProps) {
  const [asked, setAsked] = useState<'delete' | 'duplicate'>();
  const acts = useStreamActs(stream, {
    ask: () => setAsked('delete'),
    duplicate: () => setAsked('duplicate'),
  });
  const close = () => setAsked(undefined);
  return (
    <>
      {(phase === 'live' || phase === 'reconnecting') && <SkipButton stream={stream} />}
      <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={onEdit}>
        Edit
      </Button>
      <ActMenu label="More actions" acts={acts} />
      {asked === 'delete' && <DeleteStream stream={stream} onClose={close} />}
      {asked === 'duplicate' && <DuplicateForm stream={stream} onClose={close} />}
    </>
  );
}
