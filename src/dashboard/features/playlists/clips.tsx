/** The clips of a draft, to be put in order by dragging or by keyboard (Space, arrows, Space). */
import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconGripVertical, IconX } from '@tabler/icons-react';
import { useMemo } from 'react';
import { formatLength } from '../../lib/format.ts';
import { Name } from '../../ui/name.tsx';
import { Poster } from '../../ui/poster.tsx';
import { isPlainReady, UploadTag } from '../uploads/row.tsx';
import type { PlaylistEntry } from './draft.ts';
import classes from './playlists.module.css';
import { clipName, type UploadsById } from './text.ts';

interface ClipProps {
  entry: PlaylistEntry;
  place: number;
  uploads: UploadsById;
  onRemove: () => void;
}

function Clip({ entry, place, uploads, onRemove }: ClipProps) {
  const sortable = useSortable({ id: entry.key });
  const { setNodeRef, setActivatorNodeRef, attributes, listeners, transform, transition, isDragging } = sortable;
  const upload = uploads.get(entry.objectID);
  const name = clipName(entry.objectID, uploads);
  return (
    <li
      ref={setNodeRef}
      className={classes.clip}
      style={{ transform: CSS.Translate.toString(transform), transition }}
      data-dragging={isDragging || undefined}
      data-testid="clip"
    >
      <button
        type="button"
        ref={setActivatorNodeRef}
        className={classes.handle}
        {...attributes}
        {...listeners}
        aria-label={`Move ${name}`}
      >
        <IconGripVertical size={18} stroke={1.7} aria-hidden />
      </button>
      <span className={classes.place}>{place}</span>
      <Poster url={upload?.posterUrl} kind={upload?.type ?? 'VIDEO'} name={name} />
      <span className={classes.clipText}>
        <span className={classes.clipName} data-testid="clip-name">
          <Name isCut>{name}</Name>
        </span>
        {upload && !isPlainReady(upload) && <UploadTag {...upload} />}
      </span>
      <span className={classes.length}>{formatLength(upload?.durationSeconds)}</span>
      <Tooltip label="Take out">
        <ActionIcon aria-label={`Take out ${name}`} onClick={onRemove}>
          <IconX size={17} stroke={1.8} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </li>
  );
}

/** Screen readers hear names and places while a clip is moved, where the library would tell its keys. */
function buildAnnouncements(entries: readonly PlaylistEntry[], uploads: UploadsById): Announcements {
  const getName = (key: unknown): string => {
    const entry = entries.find((one) => one.key === key);
    return entry ? clipName(entry.objectID, uploads) : 'The clip';
  };
  const formatPlace = (key: unknown): string =>
    `${entries.findIndex((one) => one.key === key) + 1} of ${entries.length}`;
  const pickedUp = (key: unknown): string => `${getName(key)} is picked up, at place ${formatPlace(key)}.`;
  return {
    onDragStart: ({ active }) => pickedUp(active.id),
    // It is first above itself, which must not replace the first announcement.
    onDragOver: ({ active, over }) => {
      if (!over) return undefined;
      return over.id === active.id ? pickedUp(active.id) : `${getName(active.id)} is at place ${formatPlace(over.id)}.`;
    },
    onDragEnd: ({ active, over }) =>
      over
        ? `${getName(active.id)} is put down at place ${formatPlace(over.id)}.`
        : `${getName(active.id)} is put back.`,
    onDragCancel: ({ active }) => `${getName(active.id)} is put back.`,
  };
}

const INSTRUCTIONS = {
  draggable: 'To move a clip, press Space, move it with the arrow keys, and press Space again. Escape puts it back.',
};

interface ClipsProps {
  entries: readonly PlaylistEntry[];
  uploads: UploadsById;
  onMove: (key: string, place: string) => void;
  onRemove: (key: string) => void;
}

export function Clips({ entries, uploads, onMove, onRemove }: ClipsProps) {
  const sensors = useSensors(
    useSensor(PointerSensor),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const keys = useMemo(() => entries.map(({ key }) => key), [entries]);
  const announcements = useMemo(() => buildAnnouncements(entries, uploads), [entries, uploads]);
  const drop = ({ active, over }: DragEndEvent) => {
    if (over) onMove(String(active.id), String(over.id));
  };
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={drop}
      accessibility={{ announcements, screenReaderInstructions: INSTRUCTIONS }}
    >
      <SortableContext items={keys} strategy={verticalListSortingStrategy}>
        <ol className={classes.clips}>
          {entries.map((entry, i) => (
            <Clip key={entry.key} entry={entry} place={i + 1} uploads={uploads} onRemove={() => onRemove(entry.key)} />
          ))}
        </ol>
      </SortableContext>
    </DndContext>
  );
}
