/** Fetches a CSV of the API and hands it to the browser. */
import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useApi } from '../api/context.tsx';
import { saveFile } from '../lib/download.ts';
import { useOnce } from './useOnce.ts';

interface DownloadButtonProps {
  /** Path of the API, with its query. */
  path: string;
  /** Of the file. */
  name: string;
  children: ReactNode;
}

export function DownloadButton({ path, name, children }: DownloadButtonProps) {
  const api = useApi();
  const { run, busy, problem } = useOnce(
    () => api.file(path, 'text/csv'),
    (file) => saveFile(file, name),
  );
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconDownload size={15} aria-hidden />}
        loading={busy}
        onClick={() => run(undefined)}
      >
        {children}
      </Button>
      {problem && <p role="alert">{problem}</p>}
    </>
  );
}
