import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { ApiError } from '../../api/client';
import { checkConfig, type Config, type Document } from '../../api/configs';
import { type Mistake, mistakesOf, readText } from './mistakes';
import { ordered } from './ordered';

/** Pause in typing before the document is validated. */
const PAUSE_MS = 400;

const textOf = (document: unknown): string => `${JSON.stringify(ordered(document), null, 2)}\n`;

export interface Draft {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Null while the text is not a JSON object. */
  readonly document: Document | null;
  readonly mistakes: readonly Mistake[];
  readonly isChanged: boolean;
  /** The server has not responded for this text yet. */
  readonly isChecking: boolean;
  readonly discard: () => void;
}

/** The edited text and the server's validation: its dry run reports what a save would refuse. `kept`: text of an earlier visit. */
export function useDraft(config: Config, mayEdit: boolean, kept: string | null): Draft {
  const saved = useMemo(() => textOf(config.config), [config.config]);
  const [typed, setTyped] = useState(kept);
  const text = typed ?? saved;
  const settled = useSettled(text);
  const read = useMemo(() => readText(text), [text]);
  const document = 'document' in read ? read.document : null;
  const isChanged = document === null || textOf(document) !== saved;
  const isAsked = mayEdit && isChanged && document !== null;
  const check = useQuery({
    queryKey: ['configs', 'check', config.slug, settled],
    queryFn: ({ signal }) => checkConfig(config.slug, JSON.parse(settled) as Document, signal),
    enabled: isAsked && settled === text,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  });
  const mistakes = useMemo(() => {
    if ('mistake' in read) return [read.mistake];
    return check.error && isAsked ? mistakesOf(ApiError.from(check.error), text) : [];
  }, [read, check.error, isAsked, text]);
  return {
    text,
    setText: setTyped,
    document,
    mistakes,
    isChanged,
    isChecking: isAsked && (settled !== text || check.isFetching),
    discard: () => setTyped(null),
  };
}

/** A text once it has not changed for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
