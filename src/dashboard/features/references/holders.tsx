/** Lists the things that still need another, by name, with a link to each. */
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ProblemError } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import classes from '../../ui/form.module.css';
import { Name } from '../../ui/name.tsx';

interface Holder {
  id: string;
  name: string;
}

/** Ids stand for the names that are not known (yet). */
function useNames(noun: 'streams' | 'playlists' | 'scenes', ids: readonly string[]): Holder[] {
  const api = useApi();
  const answers = useQueries({
    queries: ids.map((id) => ({
      queryKey: [noun, 'name', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => api.calls[noun].get(id, { signal }),
    })),
  });
  return ids.map((id, i) => ({ id, name: answers[i]?.data?.name ?? id }));
}

export function StreamLinks({ ids }: { ids: readonly string[] }) {
  return (
    <ul className={classes.holders}>
      {useNames('streams', ids).map(({ id, name }) => (
        <li key={id}>
          Stream{' '}
          <Link to="/streams/$id" params={{ id }}>
            <Name>{name}</Name>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function PlaylistLinks({ ids }: { ids: readonly string[] }) {
  return (
    <ul className={classes.holders}>
      {useNames('playlists', ids).map(({ id, name }) => (
        <li key={id}>
          Playlist{' '}
          <Link to="/playlists/$id" params={{ id }}>
            <Name>{name}</Name>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function SceneLinks({ ids }: { ids: readonly string[] }) {
  return (
    <ul className={classes.holders}>
      {useNames('scenes', ids).map(({ id, name }) => (
        <li key={id}>
          Scene{' '}
          <Link to="/scenes" search={{ form: `edit ${id}` }}>
            <Name>{name}</Name>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** With a code that ends in `_in_use`. */
export function HolderList({ noun, error }: { noun: string; error: ProblemError }) {
  const { streamIDs = [], playlistIDs = [], sceneIDs = [] } = error.problem;
  return (
    <>
      <p>This {noun} is still in use. Remove it from these first:</p>
      <StreamLinks ids={streamIDs} />
      <PlaylistLinks ids={playlistIDs} />
      <SceneLinks ids={sceneIDs} />
    </>
  );
}
