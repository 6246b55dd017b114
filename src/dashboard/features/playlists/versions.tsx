/** The versions that a playlist had: the changes of each, and the ways back. */
import { Button, Skeleton } from '@mantine/core';
import { IconBroadcast } from '@tabler/icons-react';
import { useState } from 'react';
import type { Playlist, PlaylistVersionSummary } from '../../../service/client/index.ts';
import { useNow } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatAgo } from '../../lib/format.ts';
import page from '../../ui/page.module.css';
import { More } from '../../ui/page.tsx';
import { Tag } from '../../ui/tag.tsx';
import { Difference } from './differenceList.tsx';
import classes from './playlists.module.css';
import { useVersions } from './queries.ts';
import { clips, MODE_WORDS } from './text.ts';

interface VersionActs {
  publish: (version: number) => void;
  rollback: (version: number) => void;
  busy: boolean;
}

interface VersionProps extends VersionActs {
  playlist: Playlist;
  version: PlaylistVersionSummary;
  /** The number of the one before, if that is kept. */
  before: number | undefined;
}

function Version({ playlist, version: row, before, publish, rollback, busy }: VersionProps) {
  const [open, setOpen] = useState(false);
  const now = useNow(false);
  const { version, createdAt, mode, itemCount, published } = row;
  const isCurrent = version === playlist.version;
  const made = createdAt ? ` · ${formatAgo(new Date(createdAt), new Date(now))}` : '';
  return (
    <li className={classes.version} data-testid="version">
      <div className={classes.versionHead}>
        <h3>
          Version {version}
          {isCurrent && ' (newest)'}
        </h3>
        {published && (
          <Tag tone="good" icon={IconBroadcast}>
            Published
          </Tag>
        )}
      </div>
      <p className={page.dim}>
        {clips(itemCount)} · {MODE_WORDS[mode].toLowerCase()}
        {made}
      </p>
      <div className={classes.versionActs}>
        {before !== undefined && (
          <Button
            size="xs"
            variant="default"
            aria-expanded={open}
            aria-label={`Changes in version ${version}`}
            onClick={() => setOpen(!open)}
          >
            Changes
          </Button>
        )}
        {!published && itemCount > 0 && (
          <Button
            size="xs"
            variant="default"
            disabled={busy}
            aria-label={`Publish version ${version}`}
            onClick={() => publish(version)}
          >
            Publish
          </Button>
        )}
        {!isCurrent && (
          <Button
            size="xs"
            variant="default"
            disabled={busy}
            aria-label={`Restore as draft: version ${version}`}
            onClick={() => rollback(version)}
          >
            Restore as draft
          </Button>
        )}
      </div>
      {open && before !== undefined && <Difference id={playlist.id} from={before} to={version} />}
    </li>
  );
}

export function Versions({ playlist, ...acts }: VersionActs & { playlist: Playlist }) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useVersions(playlist.id, playlist.version);
  if (error && !data) return <p className={page.dim}>{problemText(error)}</p>;
  if (!data) return <Skeleton height={60} aria-label="Loading the versions" />;
  const versions = data.pages.flatMap((one) => one.data);
  return (
    <>
      <ol className={classes.versions}>
        {versions.map((version, i) => (
          <Version
            key={version.version}
            playlist={playlist}
            version={{ ...version, published: version.version === playlist.publishedVersion }}
            before={versions[i + 1]?.version}
            {...acts}
          />
        ))}
      </ol>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
    </>
  );
}
