//===- PackCsv.h - ck-translate --pack-csv ----------------------*- C++ -*-===//
#ifndef CK_TOOLS_CK_TRANSLATE_PACKCSV_H
#define CK_TOOLS_CK_TRANSLATE_PACKCSV_H

namespace ck {
/// Adds `--pack-csv` to the translations.
void registerPackCsv();
} // namespace ck

#endif // CK_TOOLS_CK_TRANSLATE_PACKCSV_H
