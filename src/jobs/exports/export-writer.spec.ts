import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExportedRequest } from '../../admin/log-exports/export-fields.js';
import { exportFile } from '../../request-log/log-export.js';
import type { ClaimedExport } from './export-lease.js';
import type { ExportStep } from './export-rows.js';
import { ExportWriter } from './export-writer.js';

const CLAIMED = {
  id: 'export',
  requestedData: ['id'],
  format: 'jsonl',
  compression: 'none',
  after: null,
  rows: 0,
  bytes: 0,
  run: 1,
  tries: 1,
} as unknown as ClaimedExport;

const stepOf = (id: string, isLast: boolean): ExportStep => ({
  requests: [{ row: { id } } as ExportedRequest],
  after: { at: id, id },
  isLast,
});

/** The events, in order. */
let happened: string[];
let folder: string;
beforeEach(async () => {
  happened = [];
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-export-writer-'));
});
afterEach(() => rm(folder, { recursive: true }));

interface ExportScript {
  readonly step: (place: string | null) => Promise<ExportStep>;
  readonly isHeld?: () => boolean;
  readonly mayExport?: (times: number) => boolean;
}

function writerOf({ step, isHeld = () => true, mayExport = () => true }: ExportScript): ExportWriter {
  let asked = 0;
  const leases = {
    claim: async () => CLAIMED,
    advance: async (_: unknown, { rows }: { readonly rows: number }) => {
      // As long as a commit takes.
      await delay(20);
      happened.push(`${rows} kept`);
      return isHeld();
    },
    succeed: async () => true,
    fail: async (_: unknown, problem: string) => {
      happened.push(problem);
      return true;
    },
    pause: async () => undefined,
  };
  const rows = {
    step: async (_: unknown, after: { readonly id: string } | null) => {
      happened.push(`read after ${after?.id ?? 'nothing'}`);
      return step(after?.id ?? null);
    },
  };
  const rights = { of: async () => ({ scopes: new Set(mayExport((asked += 1)) ? ['logs.export'] : []) }) };
  return new ExportWriter({
    leases,
    rows,
    rights,
    settings: { folder, limitBytes: 1_000, retentionDays: 1 },
    isStopping: () => false,
    bucket: null,
  } as unknown as ConstructorParameters<typeof ExportWriter>[0]);
}

const written = () => readFile(exportFile(folder, CLAIMED), 'utf8');

describe('the file of an export', () => {
  it('grows while the requests after it are read', async () => {
    const writer = writerOf({
      step: async (place) => (place === 'a' ? stepOf('b', true) : stepOf('a', false)),
    });

    expect(await writer.write('export')).toBe('success');

    expect(happened).toEqual(['read after nothing', 'read after a', '1 kept', '2 kept']);
    expect(await written()).toBe('{"id":"a"}\n{"id":"b"}\n');
  });

  it('keeps what was read before a reading that fails', async () => {
    const away = new Error('The database is away.');
    const writer = writerOf({
      step: (place) => (place === 'a' ? Promise.reject(away) : Promise.resolve(stepOf('a', false))),
    });

    await expect(writer.write('export')).rejects.toBe(away);

    expect(happened).toEqual(['read after nothing', 'read after a', '1 kept']);
    expect(await written()).toBe('{"id":"a"}\n');
  });

  it('stops its reading when another worker writes it', async () => {
    let isOver = false;
    const late = async (): Promise<ExportStep> => {
      await delay(100);
      isOver = true;
      return stepOf('b', true);
    };
    const writer = writerOf({
      step: (place) => (place === 'a' ? late() : Promise.resolve(stepOf('a', false))),
      isHeld: () => false,
    });

    expect(await writer.write('export')).toBe('absent');

    expect(isOver).toBe(true);
    expect(happened).toEqual(['read after nothing', 'read after a', '1 kept']);
  });

  it('ends where whoever started it may not go on', async () => {
    const writer = writerOf({ step: async () => stepOf('a', false), mayExport: (times) => times === 1 });

    expect(await writer.write('export')).toBe('failed');

    expect(happened).toEqual([
      'read after nothing',
      '1 kept',
      'The caller who started the export can no longer export requests of this workspace.',
    ]);
  });
});
