import { Button } from '@mantine/core';
import { IconMusic, IconPlaylist, IconPlus, IconVideo } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { PlaylistSummary } from '../../client/index.ts';
import { useNow } from '../context.tsx';
import { formatAgo } from '../format.ts';
import { Empty, More, PageHead, RowsLoading, useTitle } from '../parts/page.tsx';
import { Failure } from '../shell/notices.tsx';
import { CreateForm } from './createForm.tsx';
import classes from './playlists.module.css';
import { usePlaylists, usePlaylistsChanged } from './queries.ts';
import { KIND_WORDS, MODE_WORDS } from './words.ts';

const LEAD = 'Clips that a stream loops one after the other. What you change goes on air when you publish it.';

/** `Video · In order · version 4, of which 3 is published`. */
function summaryOf({ kind, mode, version, publishedVersion }: PlaylistSummary): string {
  const played = publishedVersion !== null && publishedVersion !== version ? `, streams play ${publishedVersion}` : '';
  return `${KIND_WORDS[kind]} · ${MODE_WORDS[mode]} · version ${version}${played}`;
}

function Row({ playlist }: { playlist: PlaylistSummary }) {
  const { id, name, kind, createdAt, streamID } = playlist;
  const now = useNow(false);
  const Icon = kind === 'audio' ? IconMusic : IconVideo;
  return (
    <article className={classes.row} data-testid="playlist" aria-label={name}>
      <div className={classes.kind}>
        <Icon size={22} stroke={1.6} aria-hidden />
      </div>
      <div className={classes.facts}>
        <h2>
          <Link to="/playlists/$id" params={{ id }} className={classes.link}>
            {name}
          </Link>
        </h2>
        <p className={classes.dim}>{summaryOf(playlist)}</p>
      </div>
      <p className={classes.aside}>
        {streamID === '' ? 'Not in any stream' : 'In a stream'}
        <span>Created {formatAgo(new Date(createdAt), new Date(now))}</span>
      </p>
    </article>
  );
}

export function PlaylistsPage() {
  useTitle('Playlists');
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = usePlaylists();
  const changed = usePlaylistsChanged();
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const playlists = data?.pages.flatMap((page) => page.data) ?? [];
  const add = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => setCreating(true)}>
      New playlist
    </Button>
  );

  if (error && !data) return <Failure title="Your playlists could not be loaded" error={error} retry={refetch} />;
  return (
    <>
      <PageHead title="Playlists" lead={LEAD}>
        {playlists.length > 0 && add}
      </PageHead>
      {isPending && <RowsLoading what="your playlists" />}
      {data && playlists.length === 0 && (
        <Empty icon={IconPlaylist} title="No playlist yet" action={add}>
          Put several clips into one list, in your order or shuffled, and give it to a stream in place of a single
          video.
        </Empty>
      )}
      <ul className={classes.list}>
        {playlists.map((playlist) => (
          <li key={playlist.id}>
            <Row playlist={playlist} />
          </li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
      {creating && (
        <CreateForm
          onClose={() => setCreating(false)}
          onDone={({ id }) => {
            void changed();
            return navigate({ to: '/playlists/$id', params: { id } });
          }}
        />
      )}
    </>
  );
}
