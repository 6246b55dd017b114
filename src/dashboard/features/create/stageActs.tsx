/** The buttons of a stage that failed: each leads to what solves it. */
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import forms from '../../ui/form.module.css';
import { useOpen } from '../../ui/useOpen.ts';
import { DestinationForm } from '../destinations/form.tsx';
import classes from './create.module.css';
import { ReplaceMedia } from './replaceMedia.tsx';
import type { StageAct } from './stages.ts';

interface ActProps {
  stream: Stream;
}

/** Sends a request again that may succeed now. */
function Again({ send }: { send: () => Promise<unknown> }) {
  const queries = useQueryClient();
  const again = useMutation({ mutationFn: send, onSettled: () => queries.invalidateQueries() });
  return (
    <>
      <Button size="sm" loading={again.isPending} onClick={() => again.mutate()}>
        Try again
      </Button>
      {again.error && (
        <p className={forms.problem} role="alert">
          {problemText(again.error)}
        </p>
      )}
    </>
  );
}

function EditDestination({ stream: { destinationIDs } }: ActProps) {
  const { destinations } = useApi().calls;
  const queries = useQueryClient();
  const { opened, open, close } = useOpen();
  const id = destinationIDs[0] ?? '';
  const { data, error } = useQuery({
    queryKey: ['destinations', 'one', id],
    queryFn: ({ signal }) => destinations.get(id, { signal }),
    retry: false,
  });
  if (error) return <EditStream id={id} label="Choose another destination" />;
  return (
    <>
      <Button size="sm" disabled={!data} onClick={() => open('edit destination')}>
        Edit destination
      </Button>
      {data && opened === 'edit destination' && (
        <DestinationForm
          before={data}
          onClose={close}
          onDone={() => {
            close();
            return queries.invalidateQueries();
          }}
        />
      )}
    </>
  );
}

const EditStream = ({ id, label = 'Edit the stream' }: { id: string; label?: string }) => (
  <Button component={Link} to="/streams/$id" params={{ id } as never} size="sm">
    {label}
  </Button>
);

function Replace({ stream }: ActProps) {
  const { opened, open, close } = useOpen();
  return (
    <>
      <Button size="sm" onClick={() => open('replace')}>
        Replace the file
      </Button>
      {opened === 'replace' && <ReplaceMedia stream={stream} onClose={close} />}
    </>
  );
}

function Act({ act, stream }: ActProps & { act: StageAct }) {
  const { uploads, streams } = useApi().calls;
  const { id, videoUploadObjectID, playlistIDs, audioPlaylistIDs } = stream;
  switch (act) {
    case 'replace':
      return <Replace stream={stream} />;
    case 'retryImport':
      return <Again send={() => uploads.retry(videoUploadObjectID ?? '')} />;
    case 'playlist':
      return (
        <Button
          component={Link}
          to="/playlists/$id"
          params={{ id: playlistIDs[0] ?? audioPlaylistIDs[0] ?? '' } as never}
          size="sm"
        >
          Open the playlist
        </Button>
      );
    case 'addCredit':
      return (
        <Button component={Link} to="/billing" size="sm">
          Add credit
        </Button>
      );
    case 'editDestination':
      return <EditDestination stream={stream} />;
    case 'editStream':
      return <EditStream id={id} />;
    case 'start':
      return <Again send={() => streams.start(id, { whenReady: true })} />;
  }
}

export const StageActs = ({ acts, stream }: ActProps & { acts: readonly StageAct[] }) => (
  <div className={classes.acts}>
    {acts.map((act) => (
      <Act key={act} act={act} stream={stream} />
    ))}
  </div>
);
