import { createContext, useContext } from 'react';

const ZoneContext = createContext('UTC');

/** Provides the user's zone to every time below it. */
export const ZoneProvider = ZoneContext.Provider;
export const useZone = (): string => useContext(ZoneContext);
