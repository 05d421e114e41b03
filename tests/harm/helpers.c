/* SPDX-License-Identifier: BSD-3-Clause
 * helpers - a library with functions that are called as those of libraries that tools use, and of MPI's interfaces for
 * tools. Each of them ends the process
 */
#include <stdlib.h>
#include <unistd.h>

#define FUNCTION(name)                                      \
	void name(void);                                    \
	void name(void)                                     \
	{                                                   \
		if (write(1, #name "\n", sizeof #name) < 0) \
			abort();                            \
		abort();                                    \
	}

#ifdef TOOLS
FUNCTION(MPI_T_init_thread)
FUNCTION(MPI_T_finalize)
FUNCTION(MPI_T_cvar_get_num)
FUNCTION(MPI_T_cvar_get_info)
FUNCTION(MPI_T_pvar_get_num)
FUNCTION(MPI_T_pvar_get_info)
FUNCTION(MPI_T_pvar_session_create)
FUNCTION(MPI_T_pvar_read)
FUNCTION(MPI_T_category_get_num)
FUNCTION(MPI_T_event_get_num)
FUNCTION(MPI_T_event_register_callback)
FUNCTION(MPI_T_source_get_num)
#elif defined(QMPI)
FUNCTION(QMPI_Register_tool_name)
FUNCTION(QMPI_Register_tool_storage)
FUNCTION(QMPI_Register_function)
FUNCTION(QMPI_Get_function)
FUNCTION(QMPI_Get_tool_storage)
FUNCTION(QMPI_Get_calling_address)
#else
/* libdw, libelf */
FUNCTION(dwfl_begin)
FUNCTION(dwfl_report_begin)
FUNCTION(dwfl_linux_proc_report)
FUNCTION(dwfl_addrmodule)
FUNCTION(dwarf_begin)
FUNCTION(elf_version)
FUNCTION(elf_begin)
/* libunwind */
FUNCTION(_Ux86_64_getcontext)
FUNCTION(_ULx86_64_init_local)
FUNCTION(_ULx86_64_step)
FUNCTION(unw_backtrace)
/* what traces are made of elsewhere */
FUNCTION(ZSTD_compress)
FUNCTION(ZSTD_createCCtx)
FUNCTION(json_loads)
FUNCTION(json_object_get)
FUNCTION(sqlite3_open_v2)
/* how jobs and nodes are asked */
FUNCTION(slurm_load_job)
FUNCTION(spank_get_item)
FUNCTION(PMI_Init)
FUNCTION(numa_available)
#endif
