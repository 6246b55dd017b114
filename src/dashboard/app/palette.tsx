/** Finds a stream, an upload, a playlist, a destination or a page by name, and goes there: a combobox (ARIA APG) in a dialog. */
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useApi } from '../api/context.tsx';
import { useBilling } from '../features/billing/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Name } from '../ui/name.tsx';
import classes from './palette.module.css';
import { listPaletteItems, NOTHING, type PaletteItem } from './paletteItems.ts';

const SHOWN_OF_EACH = 5;
/** Pause between the last key and the search, which reads four lists. */
const TYPED_MS = 150;

function useFound(words: string) {
  const { streams, uploads, playlists, destinations } = useApi().calls;
  const [q, setQ] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQ(words.trim()), TYPED_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const {
    data = NOTHING,
    error,
    isFetching,
  } = useQuery({
    queryKey: ['palette', q],
    queryFn: async ({ signal }) => {
      const query = { q, limit: SHOWN_OF_EACH };
      const [ofStreams, ofUploads, ofPlaylists, ofDestinations] = await Promise.all([
        streams.list({ ...query, sort: 'onAir' }, { signal }).page(),
        uploads.list({ ...query, sort: 'name' }, { signal }).page(),
        playlists.list({ ...query, sort: 'name' }, { signal }).page(),
        destinations.list({ ...query, sort: 'name' }, { signal }).page(),
      ]);
      return {
        streams: ofStreams.data,
        uploads: ofUploads.data,
        playlists: ofPlaylists.data,
        destinations: ofDestinations.data,
      };
    },
    enabled: q !== '',
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return { found: q === '' ? NOTHING : data, error, isBusy: isFetching || q !== words.trim() };
}

interface OptionsProps {
  items: readonly PaletteItem[];
  active: number;
  onChoose: (item: PaletteItem) => void;
}

/** Options with a heading before the first one of each group. */
function Options({ items, active, onChoose }: OptionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`#palette-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div ref={list} id="palette-list" role="listbox" aria-label="Found" className={classes.list}>
      {items.map((item, i) => (
        <div key={item.id} className={classes.entry} role="presentation">
          {items[i - 1]?.group !== item.group && (
            <p className={classes.group} role="presentation">
              {item.group}
            </p>
          )}
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose. */}
          {/* biome-ignore lint/a11y/useFocusableInteractive: as above, by aria-activedescendant. */}
          <div
            id={`palette-${i}`}
            role="option"
            aria-selected={i === active}
            aria-label={`${item.label}, ${item.group}`}
            className={classes.option}
            title={item.label}
            onClick={() => onChoose(item)}
          >
            <Name isCut>{item.label}</Name>
          </div>
        </div>
      ))}
    </div>
  );
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState('');
  const [active, setActive] = useState(0);
  const navigate = useNavigate();
  const isPaid = useBilling().data !== undefined;
  const { found, error, isBusy } = useFound(words);
  const items = listPaletteItems(words, found, isPaid);
  const at = Math.min(active, items.length - 1);
  const choose = (item: PaletteItem | undefined) => {
    if (!item) return;
    onClose();
    void navigate(item.link as Parameters<typeof navigate>[0]);
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
    const next = moves[event.key];
    if (event.key === 'Enter') choose(items[at]);
    // Home and End move within text that is there.
    else if (next === undefined || (words !== '' && !event.key.startsWith('Arrow'))) return;
    else setActive((next + items.length) % Math.max(1, items.length));
    event.preventDefault();
  };
  return (
    <Dialog title="Find and go to" onClose={onClose}>
      <TextInput
        role="combobox"
        aria-label="Find a stream, an upload, a playlist or a page"
        placeholder="Name of a stream, an upload, a playlist or a page"
        aria-expanded
        aria-autocomplete="list"
        aria-controls="palette-list"
        aria-activedescendant={items.length > 0 ? `palette-${at}` : undefined}
        maxLength={200}
        autoComplete="off"
        leftSection={<IconSearch size={17} aria-hidden />}
        value={words}
        onChange={(event) => {
          setWords(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={press}
      />
      <Options items={items} active={at} onChoose={choose} />
      <p className={classes.note} role="status">
        {error ? 'The search failed. Pages are still offered.' : null}
        {!error && !isBusy && items.length === 0 ? 'Nothing has this name.' : null}
      </p>
    </Dialog>
  );
}
