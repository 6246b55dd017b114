/** Reads the stages of the Dockerfile that are images: what they are made of and how they start. Pure: no I/O, no clock. */

/** `COPY --from=stage source target`: files of another stage, which are a layer of their own. */
export interface Copy {
  stage: string;
  /** A path in that stage. A directory stands for what is in it. */
  source: string;
  /** A path in the image. One with a slash at its end is a directory that gets the file. */
  target: string;
}

export interface Stage {
  copies: Copy[];
  /** The configuration of the image, as the image specification of OCI calls its parts. */
  config: { User?: string; Env: string[]; Entrypoint?: string[]; Cmd?: string[] };
}

const COPY = /^--from=(\S+) (\/\S*) (\/\S*)$/;

function readWords(words: string): string[] {
  try {
    return JSON.parse(words) as string[];
  } catch {
    throw new Error(`The Dockerfile says ${words}. Write it as a list: ["node", "…"].`);
  }
}

/**
 * Throws for a base other than `scratch`, and for an instruction that is none of COPY --from, USER, ENV, ENTRYPOINT and CMD: the
 * archive of a release would differ from the image that the Dockerfile makes.
 */
export function readStage(dockerfile: string, name: string): Stage {
  const lines = dockerfile
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const begin = lines.indexOf(`FROM scratch AS ${name}`);
  if (begin < 0) throw new Error(`The Dockerfile has no line "FROM scratch AS ${name}".`);
  const rest = lines.slice(begin + 1);
  const end = rest.findIndex((line) => line.startsWith('FROM '));
  const stage: Stage = { copies: [], config: { Env: [] } };
  for (const line of end < 0 ? rest : rest.slice(0, end)) {
    const [, instruction, words = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    const [, from, source, target] = COPY.exec(words) ?? [];
    if (instruction === 'COPY' && from && source && target) stage.copies.push({ stage: from, source, target });
    else if (instruction === 'USER') stage.config.User = words;
    else if (instruction === 'ENV') stage.config.Env.push(...words.split(/\s+/));
    else if (instruction === 'ENTRYPOINT') stage.config.Entrypoint = readWords(words);
    else if (instruction === 'CMD') stage.config.Cmd = readWords(words);
    else throw new Error(`scripts/release/stage.ts does not know this line of the Dockerfile: ${line}`);
  }
  return stage;
}
