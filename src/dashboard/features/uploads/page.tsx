import { Button } from '@mantine/core';
import { IconLink } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { ListFilter, NothingFound, useListSearch } from '../../ui/listFilter.tsx';
import { Failure } from '../../ui/notices.tsx';
import page from '../../ui/page.module.css';
import { More, PageHead, RowsLoading, useTitle } from '../../ui/page.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import { listCommands } from '../commands/commands.ts';
import { ForPrograms } from '../commands/snippets.tsx';
import { DropZone } from './dropZone.tsx';
import { LinkForm } from './linkForm.tsx';
import { useUploads, useUploadsChanged } from './queries.ts';
import { UploadRow } from './row.tsx';
import { useFiles, useSend, useSendings } from './sending.tsx';
import { SendingRow, UnfinishedRow } from './sendingRows.tsx';
import { splitUploads } from './splitUploads.ts';
import { guessKeptType } from './text.ts';
import classes from './uploads.module.css';

const LEAD =
  'The videos and sounds that your streams loop, and the images that they show over them. Add one from a link, or send files from this computer.';

export function UploadsPage() {
  useTitle('Uploads');
  const search = useListSearch();
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useUploads(search.asked);
  const failure = useFailure(data, error);
  const changed = useUploadsChanged();
  const files = useFiles();
  const send = useSend(guessKeptType);
  const sendings = useSendings();
  const { opened, open, close } = useOpen();
  const [, lookAgain] = useState(0);
  const picker = useRef<HTMLInputElement>(null);

  if (failure) return <Failure title="Your uploads could not be loaded" error={failure} retry={refetch} />;
  const uploads = data?.pages.flatMap((one) => one.data) ?? [];
  const { unfinished, rest } = splitUploads(uploads, sendings, files?.memory.list() ?? []);
  return (
    <>
      <PageHead title="Uploads" lead={LEAD}>
        <Button leftSection={<IconLink size={17} aria-hidden />} onClick={() => open('link')}>
          Add from a link
        </Button>
      </PageHead>
      <DropZone picker={picker} onFiles={send} />
      {files && sendings.length + unfinished.length > 0 && (
        <section className={classes.sendings} aria-label="In progress">
          {sendings.map((sending) => (
            <SendingRow key={sending.id} sending={sending} sender={files.sender} />
          ))}
          {unfinished.map((one) => (
            <UnfinishedRow
              key={one.key}
              unfinished={one}
              memory={files.memory}
              choose={() => picker.current?.click()}
              onForgotten={() => {
                lookAgain((n) => n + 1);
                return changed();
              }}
            />
          ))}
        </section>
      )}
      {(uploads.length > 0 || search.isFiltered) && <ListFilter nouns="uploads" search={search} />}
      {isPending && <RowsLoading what="your uploads" />}
      {data && uploads.length === 0 && search.isFiltered && <NothingFound noun="upload" search={search} />}
      {data && uploads.length === 0 && !search.isFiltered && (
        <p className={classes.none}>No uploads yet. New uploads appear here with their state.</p>
      )}
      <ul className={page.list}>
        {rest.map((upload) => (
          <li key={upload.objectID}>
            <UploadRow upload={upload} />
          </li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
      <ForPrograms about="Uploads" {...listCommands(location.origin, 'uploads')} />
      {opened === 'link' && (
        <LinkForm
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
