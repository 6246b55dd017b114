import { Button } from '@mantine/core';
import { IconPencil, IconPlus, IconStack2, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { Scene } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { formatAgo } from '../../lib/format.ts';
import { ActMenu, copyAct } from '../../ui/actMenu.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import { ListFilter, NothingFound, useListSearch } from '../../ui/listFilter.tsx';
import { Failure } from '../../ui/notices.tsx';
import page from '../../ui/page.module.css';
import { Empty, More, PageHead, RowsLoading, useTitle } from '../../ui/page.tsx';
import { Row } from '../../ui/row.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import { listCommands } from '../commands/commands.ts';
import { ForPrograms } from '../commands/snippets.tsx';
import { HolderList } from '../references/holders.tsx';
import { SceneForm } from './form.tsx';
import { useScene, useScenes, useScenesChanged } from './queries.ts';
import { formatScene } from './text.ts';

const LEAD =
  'Logos and texts over the pictures, under a name. Streams that choose a scene show the same, and change with it.';
const EDIT = 'edit ';

function SceneRow({ scene, onEdit }: { scene: Scene; onEdit: () => void }) {
  const { id, name, createdAt } = scene;
  const { scenes } = useApi().calls;
  const { changed } = useScenesChanged();
  const [isAsked, setAsked] = useState(false);
  const now = useNow(false);
  return (
    <Row
      data-testid="scene"
      name={name}
      icon={<IconStack2 size={22} stroke={1.6} aria-hidden />}
      facts={
        <p className={page.dim}>
          {formatScene(scene)} · created {formatAgo(new Date(createdAt), new Date(now))}
        </p>
      }
      actions={
        <>
          <Button variant="default" size="xs" leftSection={<IconPencil size={15} aria-hidden />} onClick={onEdit}>
            Edit
          </Button>
          <ActMenu
            isSmall
            label={`More actions for ${name}`}
            acts={[
              copyAct('Copy id', id),
              { label: 'Delete scene…', icon: IconTrash, isDanger: true, run: () => setAsked(true) },
            ]}
          />
        </>
      }
    >
      {isAsked && (
        <DeleteDialog
          noun="scene"
          name={name}
          holders={(error) => <HolderList noun="scene" error={error} />}
          remove={() => scenes.delete(id)}
          onClose={() => setAsked(false)}
          onDone={() => {
            setAsked(false);
            return void changed();
          }}
        >
          The scene is deleted permanently. Its pictures stay in your uploads.
        </DeleteDialog>
      )}
    </Row>
  );
}

/** The scene of a form. One that the list does not have is read by its id. */
function useEdited(scenes: readonly Scene[] | undefined, opened: string | undefined): Scene | undefined {
  const id = opened?.startsWith(EDIT) ? opened.slice(EDIT.length) : undefined;
  const listed = scenes?.find((one) => one.id === id);
  const { data } = useScene(scenes && !listed ? id : undefined);
  return listed ?? data;
}

export function ScenesPage() {
  useTitle('Scenes');
  const search = useListSearch();
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useScenes(search.asked);
  const failure = useFailure(data, error);
  const { changed } = useScenesChanged();
  const { opened, open, close } = useOpen();
  const read = data?.pages.flatMap((one) => one.data);
  const edited = useEdited(read, opened);
  const scenes = read ?? [];
  const hasSome = scenes.length > 0 || search.isFiltered;
  const add = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => open('new')}>
      New scene
    </Button>
  );

  if (failure) return <Failure title="Your scenes could not be loaded" error={failure} retry={refetch} />;
  return (
    <>
      <PageHead title="Scenes" lead={LEAD}>
        {hasSome && add}
      </PageHead>
      {hasSome && <ListFilter nouns="scenes" search={search} />}
      {isPending && <RowsLoading what="your scenes" />}
      {data && scenes.length === 0 && search.isFiltered && <NothingFound noun="scene" search={search} />}
      {data && !hasSome && (
        <Empty icon={IconStack2} title="No scene yet" action={add}>
          Put a logo or the title of what plays over the pictures once, and choose it in each stream that shows it.
        </Empty>
      )}
      <ul className={page.list}>
        {scenes.map((scene) => (
          <li key={scene.id}>
            <SceneRow scene={scene} onEdit={() => open(`${EDIT}${scene.id}`)} />
          </li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
      <ForPrograms about="Scenes" {...listCommands(location.origin, 'scenes')} />
      {(opened === 'new' || edited) && (
        <SceneForm
          key={edited?.id}
          {...(edited && { before: edited })}
          onClose={close}
          onDone={() => {
            close();
            return changed();
          }}
        />
      )}
    </>
  );
}
