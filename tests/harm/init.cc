// SPDX-License-Identifier: BSD-3-Clause
// init - C++ objects that ask MPI before main and after it, exceptions, threads, streams. Without -DWITH_MPI the same without MPI
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#ifdef WITH_MPI
#include <mpi.h>
#endif

struct asks {
	explicit asks(const char *name) : name(name) { say("made"); }
	~asks() { say("destroyed"); }
	void say(const char *what) const
	{
		int flag = 0, over = 0;
#ifdef WITH_MPI
		MPI_Initialized(&flag);
		MPI_Finalized(&over);
#endif
		std::cout << name << ' ' << what << ' ' << flag << over << '\n';
	}
	const char *name;
};

static const asks first("first"), second("second");

int main()
{
	static const asks third("third");
	std::mt19937 random(1);
	std::vector<unsigned> values(100000);
	std::map<std::string, int> counts;
	std::thread thread([&] { std::generate(values.begin(), values.end(), random); });

	thread.join();
	std::sort(values.begin(), values.end());
#ifdef WITH_MPI
	MPI_Init(nullptr, nullptr);
	thread_local asks fourth("fourth");
	fourth.say("used");
#endif
	try {
		for (auto v : values)
			counts[std::to_string(v % 97)]++;
		if (std::regex_match("spoor", std::regex("s(p|q)o+r")))
			throw std::runtime_error("thrown");
	} catch (const std::exception &error) {
		std::cerr << error.what() << '\n';
	}
	std::ofstream("made") << counts.size() << ' ' << values[500] << '\n';
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 4;
}
