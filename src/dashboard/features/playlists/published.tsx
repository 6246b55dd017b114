/** Shows which version of a playlist streams play, how far it is prepared, and which streams they are. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Playlist } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { Bar } from '../../ui/page.tsx';
import { PhaseBadge } from '../streams/badge.tsx';
import classes from './playlists.module.css';
import { usePlaylistStreams } from './queries.ts';
import { publicationText } from './text.ts';

function Streams({ playlist }: { playlist: Playlist }) {
  const { data, error } = usePlaylistStreams(playlist);
  if (playlist.streamID === '') return null;
  if (!data) return <p className={page.dim}>{error ? problemText(error) : 'Loading its streams…'}</p>;
  return (
    <ul className={classes.streams} aria-label="Streams that play it">
      {data.map((stream) => (
        <li key={stream.id}>
          <Link to="/streams/$id" params={{ id: stream.id }}>
            <Name>{stream.name}</Name>
          </Link>
          <PhaseBadge stream={stream} phase={stream.status} />
        </li>
      ))}
    </ul>
  );
}

export function Published({ playlist }: { playlist: Playlist }) {
  const { state, progress, itemsTotal } = playlist.publication;
  return (
    <>
      <p className={classes.publication} data-state={itemsTotal === 0 ? 'failed' : state} role="status">
        {publicationText(playlist)}
      </p>
      {state === 'preparing' && <Bar value={progress > 0 ? progress : undefined} label="Preparing" />}
      <Streams playlist={playlist} />
      {playlist.streamID === '' && playlist.kind === 'video' && itemsTotal > 0 && (
        <Button component={Link} to="/create" search={{ playlist: playlist.id } as never} variant="default" size="sm">
          New stream with it
        </Button>
      )}
    </>
  );
}
